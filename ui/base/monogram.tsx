const tints = 6;

/**
 * The logo of a Client where it is served from our own origin, else its first letter on a tint
 * chosen by its name.
 */
export function Monogram({ name, logo }: { name: string; logo?: string | undefined }) {
  if (logo && URL.parse?.(logo)?.origin === location.origin)
    return <img class="monogram" src={logo} alt="" />;
  const letters = [...name.normalize('NFC').matchAll(/[\p{L}\p{N}]\p{M}*/gu)];
  const tint = [...name].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % tints;
  return (
    <span class={`monogram tint-${tint}`} aria-hidden="true">
      {letters[0]?.[0].toLocaleUpperCase() ?? '·'}
    </span>
  );
}
