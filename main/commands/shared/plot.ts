// A curve in the terminal, drawn with braille dots: two columns and four rows of points to each character.

const DOTS = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

interface PlotOptions {
  readonly title: string;
  readonly unit: string;
  /** In characters. */
  readonly width?: number;
  readonly height?: number;
}

/** Each column of points is the mean of the values that fall into it. */
export function plot(values: readonly number[], { title, unit, width = 64, height = 14 }: PlotOptions): string {
  if (values.length === 0) return `${title}: no values`;
  const columns = Math.min(values.length, width * 2);
  const means = Array.from({ length: columns }, (_, column) => {
    const part = values.slice(Math.floor((column * values.length) / columns), Math.floor(((column + 1) * values.length) / columns));
    return part.reduce((sum, x) => sum + x, 0) / part.length;
  });
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const rows = height * 4;
  const cells = Array.from({ length: height }, () => new Array<number>(Math.ceil(columns / 2)).fill(0));
  let before: number | undefined;
  for (const [column, mean] of means.entries()) {
    const at = high === low ? 0 : Math.round(((high - mean) / (high - low)) * (rows - 1));
    // A steep curve stays connected: the points between two columns are drawn as well.
    for (let row = Math.min(at, before ?? at); row <= Math.max(at, before ?? at); row++) {
      const line = cells[Math.floor(row / 4)];
      const cell = Math.floor(column / 2);
      if (line) line[cell] = (line[cell] ?? 0) | (DOTS[column % 2 === 0 ? 0 : 1][row % 4] ?? 0);
    }
    before = at;
  }
  const label = (row: number): string =>
    (row === 0 ? high : row === height - 1 ? low : high - ((high - low) * row) / (height - 1)).toFixed(2).padStart(8);
  const lines = cells.map(
    (line, row) =>
      `${row % 3 === 0 || row === height - 1 ? label(row) : ' '.repeat(8)} ┤${line.map((dots) => String.fromCodePoint(0x2800 + dots)).join('')}`,
  );
  const axis = `${' '.repeat(8)} └${'─'.repeat(Math.ceil(columns / 2))} ${values.length}`;
  return [`${title} (${unit})`, ...lines, axis].join('\n');
}
