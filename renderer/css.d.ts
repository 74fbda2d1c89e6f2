// What the bundler adds: style sheets (a module's class names, or nothing) and import.meta.glob.

/// <reference types="vite/types/importMeta.d.ts" />

declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>;
  export default classes;
}
declare module '*.css';
