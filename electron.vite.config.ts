// How the three parts of the application are bundled into out/: main (ES modules: the window's process, the training
// worker and the command line share chunks), preload (one CommonJS file, because a sandboxed preload can be nothing
// else) and the renderer. Dependencies of main stay outside the bundle (native modules could not be inlined anyway), but
// for zod: taken in, the hundred files that it consists of are one, without its texts in fifty languages, and the start
// is a tenth of a second shorter.

import react from '@vitejs/plugin-react';
import { defineConfig } from 'electron-vite';

const entries = {
  index: 'main/shell/index.ts',
  lab: 'main/lab/main.ts',
  'lab-reader': 'main/lab/reader.ts',
  worker: 'main/process/worker.ts',
  cli: 'main/commands/cli.ts',
  'cluster-task': 'main/cluster/task-program.ts',
  'device-check': 'main/engine/gpu/device-check.ts',
  'engine-lane': 'main/engine/runtime/lane-thread.ts',
  'world-thread': 'main/environment/external/thread.ts',
  'webshop-import': 'main/environment/webshop/search/import-program.ts',
};

export default defineConfig({
  main: {
    build: {
      target: 'node24',
      outDir: 'out/main',
      sourcemap: true,
      externalizeDeps: { exclude: ['zod'] },
      rolldownOptions: {
        input: entries,
        output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
      },
    },
  },
  preload: {
    build: {
      target: 'node24',
      outDir: 'out/preload',
      externalizeDeps: false,
      rolldownOptions: {
        input: { index: 'preload/index.ts' },
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: 'renderer',
    plugins: [react()],
    build: {
      target: 'chrome148',
      outDir: 'out/renderer',
      minify: true,
      rolldownOptions: { input: { index: 'renderer/index.html' } },
    },
  },
});
