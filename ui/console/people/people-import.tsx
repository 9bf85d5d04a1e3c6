import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Button } from '../../base/button.js';
import { announce } from '../../base/live-region.js';
import { t } from '../../base/text/message.js';
import { Status } from '../../base/status.js';
import { useConsole } from '../base/console-context.js';
import { kindOf } from '../base/discovery.js';
import { Frame } from '../base/frame.js';
import { decodeText, type PersonRow } from '../../../csv/people-file.js';
import { parseImportFile, type ImportFile, type Refusal } from './import-file.js';
import { importPeople, type ImportResult } from './import-people.js';
import type { Kind } from '../base/kind.js';
import { Code, English, Failure, Part, Table } from '../base/parts.js';
import { useStored } from '../base/stored.js';
import { saveLines } from '../table/csv.js';
import { useRequest } from '../base/use-request.js';

/** The refused lines that are shown. */
const maxShown = 200;

const example = 'email,displayName,groups\nada@example.org,Ada Lovelace,staff;mathematicians\n';

const whyOf = ({ reason, values, message }: Refusal): string =>
  reason ? t(reason, values) : (message ?? '');

function Refusals({ all }: { all: readonly Refusal[] }) {
  const sorted = [...all].sort((row, other) => row.line - other.line);
  const save = (): void => {
    const rows = sorted.map((row) => [String(row.line), row.email, whyOf(row)]);
    saveLines('refused', [['line', 'email', 'why'], ...rows]);
  };
  return (
    <>
      <Table
        label={t('console.import.refused')}
        columns={[t('console.import.line'), t('console.people.find'), t('console.import.why')]}
        wraps
      >
        {sorted.slice(0, maxShown).map((row) => (
          <tr key={row.line}>
            <th scope="row">{row.line}</th>
            <td>
              <bdi dir="ltr">{row.email}</bdi>
            </td>
            <td>{row.reason ? whyOf(row) : <English>{row.message}</English>}</td>
          </tr>
        ))}
      </Table>
      <p>
        <Button variant="small" onPress={save}>
          {t('console.import.save')}
        </Button>
      </p>
    </>
  );
}

function Report({ result, isTried }: { result: ImportResult; isTried: boolean }) {
  const { created, unchanged, joined, refusals } = result;
  return (
    <Part id="report" title={t(isTried ? 'console.import.tried' : 'console.import.done')}>
      <ul>
        <li>{t('console.import.created', { count: created })}</li>
        <li>{t('console.import.unchanged', { count: unchanged })}</li>
        <li>{t('console.import.joined', { count: joined })}</li>
        <li>{t('console.import.refusals', { count: refusals.length })}</li>
      </ul>
      {refusals.length > maxShown && (
        <p class="hint">{t('console.import.first', { count: maxShown })}</p>
      )}
      {refusals.length > 0 && <Refusals all={refusals} />}
    </Part>
  );
}

function FileField({ onText }: { onText: (text: string) => void }) {
  return (
    <div class="field">
      <label for="file">{t('console.import.file')}</label>
      <input
        id="file"
        type="file"
        accept=".csv,.tsv,.txt,text/csv,text/plain,text/tab-separated-values"
        aria-describedby="file-hint"
        onChange={({ currentTarget: { files } }) => {
          const [file] = files ?? [];
          const read = (bytes: ArrayBuffer): void => onText(decodeText(new Uint8Array(bytes)));
          if (file) void file.arrayBuffer().then(read);
        }}
      />
      <div id="file-hint" class="hint">
        {t('console.import.hint')}
      </div>
    </div>
  );
}

/** Runs an import with its progress, which ends with the page. */
function useImport(
  accounts: Kind,
  rows: readonly PersonRow[],
  wrong: readonly Refusal[],
  onDone: () => void,
) {
  const { kinds } = useConsole();
  const request = useRequest();
  const [done, setDone] = useState(0);
  const [report, setReport] = useState<{ result: ImportResult; isTried: boolean }>();
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const run = (isDryRun: boolean): Promise<boolean> =>
    request.run(async () => {
      setDone(0);
      const { signal } = stop.current;
      const groups = kindOf(kinds, 'Group');
      const result = await importPeople(rows, {
        accounts,
        groups,
        isDryRun,
        signal,
        onProgress: setDone,
      });
      setReport({
        result: { ...result, refusals: [...wrong, ...result.refusals] },
        isTried: isDryRun,
      });
      if (!isDryRun) onDone();
      announce(t(isDryRun ? 'console.import.tried' : 'console.import.done'));
    });
  return { ...request, done, report, run };
}

function Ready({
  accounts,
  file,
  onDone,
}: {
  accounts: Kind;
  file: Extract<ImportFile, { rows: unknown }>;
  onDone: () => void;
}) {
  const { rows, refusals } = file;
  const { busy, failure, done, report, run } = useImport(accounts, rows, refusals, onDone);
  const mayImport = report?.isTried === true && !busy;
  return (
    <>
      <p>{t('console.import.people', { count: rows.length })}</p>
      {failure && <Failure failure={failure} isChange />}
      {busy && (
        <p>
          <label for="progress">{t('console.import.progress', { done, count: rows.length })}</label>{' '}
          <progress id="progress" value={done} max={rows.length} />
        </p>
      )}
      {report && !busy && <Report {...report} />}
      <div class="pair">
        <Button variant="main" busy={busy} onPress={() => void run(!mayImport)}>
          {t(mayImport ? 'console.import.run' : 'console.import.try', { count: rows.length })}
        </Button>
      </div>
    </>
  );
}

/** An import of a file: first tried without a change, then carried out. */
export function PeopleImport({ accounts }: { accounts: Kind }) {
  const { account } = useConsole();
  const stored = useStored<string>(account, 'people/import');
  const [text, setText] = useState(stored.value);
  const file = useMemo(() => (text === undefined ? undefined : parseImportFile(text)), [text]);
  return (
    <Frame title="console.import.title" part="people">
      <p class="lead">{t('console.import.lead')}</p>
      <Code text={example} label={t('console.import.example')} />
      <FileField
        onText={(chosen) => {
          stored.set(chosen);
          setText(chosen);
        }}
      />
      {file && 'fault' in file && <Status look="notice bad">{t(file.fault, file.values)}</Status>}
      {file && 'rows' in file && (
        <Ready key={text} accounts={accounts} file={file} onDone={() => stored.set(undefined)} />
      )}
    </Frame>
  );
}
