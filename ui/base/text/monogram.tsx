const tints = 6;

/**
 * The logo of a Client if it is served from our own origin, or else the first letter of its name on
 * a tint chosen by the name.
 */
export function Monogram({ name, logo }: { name: string; logo?: string | undefined }) {
  if (
    logo &&
    URL.canParse(logo, location.href) &&
    new URL(logo, location.href).origin === location.origin
  ) {
    return <img class="monogram" src={logo} alt="" />;
  }
  const letters = [...name.normalize('NFC').matchAll(/[\p{L}\p{N}]\p{M}*/gu)];
  const tint = [...name].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % tints;
  return (
    <span class={`monogram tint-${tint}`} aria-hidden="true">
      {letters[0]?.[0].toLocaleUpperCase() ?? '·'}
    </span>
  );
}
