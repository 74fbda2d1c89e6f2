/** Done after the test, the last one first. */
export const cleanUps: (() => void)[] = [];
