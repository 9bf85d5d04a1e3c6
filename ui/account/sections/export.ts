/** All objects about an account, as GET accounts/~/export returns them. */
export interface Export {
  readonly kind: 'List';
  readonly items: readonly object[];
}

/** Saves an object as a JSON file through the browser. The object URL is revoked after a minute. */
export function download(object: object, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(
    new Blob([`${JSON.stringify(object, null, 2)}\n`], { type: 'application/json' }),
  );
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
