const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML content and quoted attributes. */
export const escapeHTML = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character]!);
