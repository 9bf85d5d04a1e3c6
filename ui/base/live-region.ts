/** Writes into the page's status region, which exists from the start. */
function write(words: string): void {
  const region = document.querySelector('[role=status]');
  if (region) region.textContent = words;
}

/**
 * Announces text in the status region. The region is empty for a moment before, so that the same
 * text is heard again.
 */
export function announce(words: string): void {
  write('');
  requestAnimationFrame(() => setTimeout(() => write(words), 100));
}
