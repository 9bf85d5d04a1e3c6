import { Link } from './link.js';
import { t } from './text/message.js';

interface Props {
  /** Whose links these are. */
  name: string;
  help?: string | undefined;
  privacy?: string | undefined;
  terms?: string | undefined;
}

/** Links for the footer after the name that they belong to; nothing if there are none. */
export function FooterLinks({ name, ...links }: Props) {
  const ids = (['help', 'privacy', 'terms'] as const).filter((id) => links[id]);
  return (
    <>
      {ids.length > 0 && <bdi>{name}</bdi>}
      {ids.map((id) => (
        <Link to={links[id]!} tab>
          {t(id)}
        </Link>
      ))}
    </>
  );
}
