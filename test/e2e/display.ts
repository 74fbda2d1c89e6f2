// Gives each of vitest's workers one of the displays that scripts/test.mjs opened: windows on one display take each other's focus.

const displays = process.env.ASTROLAB_DISPLAYS?.split(',') ?? [];
const display = displays[(Number(process.env.VITEST_POOL_ID) - 1) % displays.length];
if (display) process.env.DISPLAY = display;
