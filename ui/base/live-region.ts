/** Announces text in the page's status region, which exists from the start. */
export function announce(words: string): void {
  const region = document.querySelector('[role=status]');
  if (region) region.textContent = words;
}
