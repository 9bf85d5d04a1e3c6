const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as HTML shows it, in content and in quoted attributes alike. */
export const escapeHTML = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character]!);
