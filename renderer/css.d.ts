// Style sheets as the bundler hands them out: a module's class names, or nothing.

declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>;
  export default classes;
}
declare module '*.css';
