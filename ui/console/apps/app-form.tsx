import { useState } from 'preact/hooks';
import { ApiError, call } from '../../base/api/api.js';
import { Button } from '../../base/button.js';
import { Field } from '../../base/field.js';
import { Form } from '../../base/form.js';
import { announce } from '../../base/live-region.js';
import { Ltr, format, t } from '../../base/text/message.js';
import type { Request } from '../../base/api/use-request.js';
import { clientIDOf, parseAddress, toClient, type AppClient, type AppDraft } from './app-client.js';
import { AppCreated } from './app-created.js';
import { createSecret, secretCommand } from './app-secret.js';
import { otherApp, type AppTemplate } from './app-templates.js';
import { useConsole } from '../base/console-context.js';
import { Frame } from '../base/frame.js';
import type { Kind } from '../base/kind.js';
import { createCommand } from '../base/kubectl.js';
import { Failure, Kubectl } from '../base/parts.js';
import { navigate, pathTo } from '../base/route.js';
import { useStored } from '../base/stored.js';
import { useRequest } from '../base/use-request.js';

type FieldName = 'address' | 'name';

/** The field of the form from which a field of the Client is made. */
const sourceOf = (field: string): FieldName | undefined => {
  if (/^spec\.(redirectURIs|homepageURI|postLogoutRedirectURIs)/.test(field)) return 'address';
  return /^(metadata\.name|spec\.displayName)/.test(field) ? 'name' : undefined;
};

const exampleOf = (template: AppTemplate): string =>
  template === otherApp ? 'https://app.example.org/callback' : `https://${template.id}.example.org`;

/** Returns the server's error of a field, or that the name is taken. */
function errorOf(failure: ApiError | undefined, name: FieldName, id: string): string | undefined {
  if (failure?.code === 409) return name === 'name' ? t('console.apps.taken', { id }) : undefined;
  if (failure?.code !== 422) return undefined;
  return failure.details.causes?.find(({ field = '' }) => sourceOf(field) === name)?.message;
}

interface FieldsProps {
  readonly template: AppTemplate;
  readonly draft: AppDraft;
  readonly errors: Readonly<Record<FieldName, string | undefined>>;
  readonly onDraft: (draft: AppDraft) => void;
}

function Fields({ template, draft, errors, onDraft }: FieldsProps) {
  const id = clientIDOf(template, draft);
  const isOther = template === otherApp;
  return (
    <>
      <Field
        id="address"
        label={t(isOther ? 'console.apps.redirect' : 'console.apps.address')}
        value={draft.address}
        error={errors.address}
        hint={format('console.apps.example', { example: <Ltr of={exampleOf(template)} /> })}
        dir="ltr"
        inputMode="url"
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
        onText={(address) => onDraft({ ...draft, address })}
      />
      <Field
        id="name"
        label={t('console.apps.name')}
        value={draft.name}
        error={errors.name}
        keepFocus={errors.address !== undefined}
        hint={format('console.apps.name.hint', { id: <Ltr of={id || '…'} /> })}
        dir="auto"
        autoComplete="off"
        onText={(name) => onDraft({ ...draft, name })}
      />
    </>
  );
}

/** Returns the commands that do what the form does: create the Client, and its secret. */
const commandOf = (kind: Kind, client: AppClient): string =>
  [
    createCommand(client),
    ...(client.spec.type === 'Public' ? [] : [secretCommand(kind, client.metadata.name)]),
  ].join('\n');

interface FormProps extends Pick<FieldsProps, 'template' | 'draft'> {
  readonly kind: Kind;
  readonly request: Request;
  /** The Client that would be sent; undefined while the address is none. */
  readonly client: AppClient | undefined;
  readonly isRestored: boolean;
  /** Undefined removes what was typed. */
  readonly onDraft: (draft: AppDraft | undefined) => void;
  readonly onSave: (client: AppClient) => void;
}

function DraftForm({ kind, template, request, client, onDraft, onSave, ...typed }: FormProps) {
  const { failure, busy } = request;
  const [isWrong, setWrong] = useState(false);
  const id = client?.metadata.name ?? '';
  const wrong =
    isWrong && !client ? t('console.apps.wrong', { example: exampleOf(template) }) : undefined;
  const errors = {
    address: wrong ?? errorOf(failure, 'address', id),
    name: errorOf(failure, 'name', id),
  };
  const isAtField = errors.address !== undefined || errors.name !== undefined;
  return (
    <Form
      onSubmit={() => {
        setWrong(!client);
        if (client) onSave(client);
      }}
    >
      {failure && !isAtField && <Failure failure={failure} isChange />}
      {typed.isRestored && <p class="notice">{t('console.restored')}</p>}
      <Fields template={template} draft={typed.draft} errors={errors} onDraft={onDraft} />
      {client && <Kubectl command={commandOf(kind, client)} />}
      <div class="pair">
        <Button variant="main" submit busy={busy} progress="console.saving">
          {t('console.apps.add')}
        </Button>
        <Button
          onPress={() => {
            onDraft(undefined);
            navigate(pathTo('apps'));
          }}
        >
          {t('console.cancel')}
        </Button>
      </div>
    </Form>
  );
}

/** The form of a new app, and after it was sent the secret and the settings of the app. */
export function AppForm({ kind, template }: { kind: Kind; template: AppTemplate }) {
  const { account } = useConsole();
  const stored = useStored<AppDraft>(account, `apps/${template.id}/new`);
  const draft = stored.value ?? { address: '', name: template.name };
  const request = useRequest();
  const [created, setCreated] = useState<AppClient>();
  const [secret, setSecret] = useState<string>();
  const url = parseAddress(draft.address);
  const requestSecret = async ({ metadata, spec }: AppClient): Promise<void> => {
    if (spec.type === 'Confidential') setSecret(await createSecret(kind, metadata.name));
  };
  const save = (client: AppClient): Promise<boolean> =>
    request.run(async () => {
      await call('POST', kind.path, client);
      stored.set(undefined);
      setCreated(client);
      announce(t('console.created', { name: client.spec.displayName }));
      await requestSecret(client);
    });
  if (created) {
    return (
      <AppCreated
        kind={kind}
        template={template}
        client={created}
        secret={secret}
        busy={request.busy}
        failure={request.failure}
        onSecret={() => void request.run(() => requestSecret(created))}
      />
    );
  }
  const { name } = template;
  return (
    <Frame title={name ? 'console.apps.new' : 'console.apps.add'} values={{ name }} part="apps">
      <DraftForm
        kind={kind}
        template={template}
        request={request}
        draft={draft}
        client={url && toClient(template, draft, url, kind.apiVersion)}
        isRestored={stored.isRestored}
        onDraft={stored.set}
        onSave={(client) => void save(client)}
      />
    </Frame>
  );
}
