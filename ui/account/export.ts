/** Everything that the API keeps about an account, as GET accounts/~/export answers it. */
export interface Export {
  readonly kind: 'List';
  readonly items: readonly object[];
}

/**
 * Has the browser save an object as a file. The address of it is good in this page alone, and only
 * until the file is saved.
 */
export function download(object: object, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(
    new Blob([`${JSON.stringify(object, null, 2)}\n`], { type: 'application/json' }),
  );
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
