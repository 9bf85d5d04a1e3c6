import { Lazy } from '../../base/api/lazy.js';
import { addMessages } from '../../base/text/i18n.js';
import messages from '../../messages/en/people.json';
import { Chunk } from '../base/chunk.js';
import type { Kind } from '../base/kind.js';
import { PeopleList } from './people-list.js';
import { PersonView } from './person-view.js';

addMessages(messages);

/** The parser of files is large. */
const importChunk = new Lazy(() => import('./people-import.js'));

/** The people, one of them, or an import; `name` is that of an account, or `-`. */
export function PeopleView({
  kind: accounts,
  name,
  query,
}: {
  kind: Kind;
  name: string;
  query: URLSearchParams;
}) {
  if (!name) return <PeopleList accounts={accounts} query={query} />;
  return name === '-' ? (
    <Chunk of={importChunk} show={({ PeopleImport }) => <PeopleImport accounts={accounts} />} />
  ) : (
    <PersonView accounts={accounts} name={name} />
  );
}
