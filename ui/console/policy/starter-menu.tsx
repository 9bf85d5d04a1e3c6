import { useState } from 'preact/hooks';
import type { ClaimsProvider, ObjectMeta } from '../../api.js';
import { readItems } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { Field } from '../../base/field.js';
import { t } from '../../base/text/message.js';
import { useRead } from '../../base/api/use-read.js';
import type { Names } from '../../decisions/names.js';
import { MenuButton } from '../table/table-tools.js';
import { useDisplayNames } from '../activity/decision-names.js';
import { starters, withStarter, type Need, type StarterName } from './starters.js';

type Options = readonly (readonly [id: string, name: string])[];

interface Named {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly displayName: string };
}

const names = Object.keys(starters) as StarterName[];
const placeholders: Partial<Record<Need, string>> = {
  domain: 'example.org',
  network: '10.0.0.0/8',
};

const optionsOf = (items: readonly Named[]): Options =>
  items.map(({ metadata, spec }) => [metadata.name, spec.displayName]);

/** Reads what starters can name; what cannot be read is left out. */
function useOptions(words: Names): Partial<Record<Need, Options>> {
  const { value } = useRead(
    () =>
      Promise.all([
        readItems<Named>('clients'),
        readItems<Named>('groups'),
        readItems<ClaimsProvider>('claimsproviders'),
      ]),
    [],
  );
  if (!value) return {};
  const [clients, groups, providers] = value;
  const scopes = providers.flatMap(({ spec }) => spec.scopes.map(({ name }) => name));
  return {
    client: optionsOf(clients),
    group: optionsOf(groups),
    scope: scopes.map((name) => [name, words.scope(name)]),
  };
}

/** Rules for common wishes, which are put into the text with the ids of real objects. */
export function StarterMenu({ text, insert }: { text: string; insert: (next: string) => void }) {
  const [starter, setStarter] = useState(names[0]!);
  const [typed, setTyped] = useState<Partial<Record<Need, string>>>({});
  const options = useOptions(useDisplayNames());
  const needs = starters[starter].needs;
  const idOf = (need: Need): string => typed[need] ?? options[need]?.[0]?.[0] ?? '';
  const nameOf = (need: Need): string =>
    options[need]?.find(([id]) => id === idOf(need))?.[1] ?? idOf(need);
  const isFilled = needs.every((need) => idOf(need).trim());
  const put = (): void => {
    if (!isFilled) return;
    document.getElementById('starters')!.hidePopover();
    insert(withStarter(text, starter, (need) => ({ id: idOf(need).trim(), name: nameOf(need) })));
  };
  return (
    <MenuButton
      id="starters"
      icon="plus"
      label={t('policies.starter')}
      words={t('policies.starter')}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          put();
        }}
      >
        <Field
          id="starter"
          label={t('policies.starter.wish')}
          choices={names.map((name) => [name, t(`policies.starter.${name}`)])}
          value={starter}
          onText={(chosen) => setStarter(names.find((name) => name === chosen)!)}
        />
        {needs.map((need) => (
          <Field
            key={need}
            id={`starter-${need}`}
            label={t(`policies.need.${need}`)}
            choices={options[need]}
            value={idOf(need)}
            placeholder={placeholders[need]}
            autoComplete="off"
            autoCapitalize="none"
            spellcheck={false}
            onText={(id) => setTyped({ ...typed, [need]: id })}
          />
        ))}
        <Button submit disabled={!isFilled}>
          {t('policies.starter.insert')}
        </Button>
      </form>
    </MenuButton>
  );
}
