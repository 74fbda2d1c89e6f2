// A reward or return: with its sign, and as few digits as say it.

export function signed(value: number): string {
  const rounded = Number(value.toFixed(4));
  return rounded > 0 ? `+${rounded}` : String(rounded).replace('-', '−');
}
