// The one way to read from a list by index: absence is a fault in the program and says so, instead of becoming a 0 that trains
// on. Inner loops over numbers whose bounds are the array's length write `x[i]!`, because a shared function is slow there.

/** `list[index]`, which must exist; a negative index counts from the end. */
export function at<T>(list: ArrayLike<T>, index: number): T {
  const item = list[index < 0 ? list.length + index : index];
  if (item === undefined) throw new RangeError(`Expected an item at index ${index}, found a list of ${list.length}`);
  return item;
}

/** `record[name]`, which must exist. */
export function field<T>(record: Readonly<Record<string, T>>, name: string): T {
  const value = record[name];
  if (value === undefined) throw new RangeError(`Expected "${name}", found only ${Object.keys(record).join(', ') || 'nothing'}`);
  return value;
}
