/** What may stand for a name that a person did not fill in. */
export const nameFallbacks = ['LocalPart', 'Email', 'Absent'] as const;
export type NameFallback = (typeof nameFallbacks)[number];

/**
 * Returns what stands for a name that the person did not fill in, for an app that gets the address as
 * well: many programs have no use for a person without `name` or `preferred_username`.
 */
export function nameFallbackOf(address: string, setting: NameFallback): string | undefined {
  if (setting === 'Absent') return undefined;
  return setting === 'Email' ? address : address.slice(0, address.lastIndexOf('@'));
}
