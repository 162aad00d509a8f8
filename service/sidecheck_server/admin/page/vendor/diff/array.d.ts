/** Types of what the page uses of the package; those that it publishes need all its modules. */
export function diffArrays<T>(
  before: T[],
  after: T[],
  options: { maxEditLength: number },
): { added: boolean; removed: boolean; value: T[] }[] | undefined;
