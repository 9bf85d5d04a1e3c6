/** Returns a rule's id as words: `own-sessions` is "Own sessions". */
export function idToWords(id: string): string {
  const words = id.replace(/[-_]+/g, ' ').trim() || id;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
