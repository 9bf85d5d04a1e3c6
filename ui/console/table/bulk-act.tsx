import { useState } from 'preact/hooks';
import { ApiError } from '../../base/api/api.js';
import { needsNewSignIn } from '../../base/passkeys/sign-in.js';
import { t } from '../../base/text/message.js';
import { Act } from '../base/act.js';
import type { Kind } from '../base/kind.js';
import { deleteCommand, deleteObject } from '../base/kubectl.js';
import { English } from '../base/parts.js';

interface Props {
  names: readonly string[];
  /** The text of the button. */
  label: string;
  /** What will happen to how many, in words. */
  question: string;
  command: (name: string) => string;
  isDanger?: boolean;
  work: (name: string) => Promise<unknown>;
  done: string;
  /** What an object is called where its act failed. */
  titleOf?: ((name: string) => string) | undefined;
}

/** An object whose act failed. */
interface Failed {
  readonly name: string;
  readonly failure: ApiError;
}

/** Does the same to selected objects one after the other; each that fails is named. */
export function BulkAct({ names, label, question, command, work, done, ...props }: Props) {
  const { titleOf = (name: string) => name } = props;
  const [count, setCount] = useState<number>();
  const [failed, setFailed] = useState<readonly Failed[]>([]);
  const workOne = async (name: string): Promise<readonly Failed[]> => {
    try {
      await work(name);
      return [];
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      if (thrown.code === 401 || needsNewSignIn(thrown)) throw thrown;
      return thrown.code === 404 ? [] : [{ name, failure: thrown }]; // gone already
    }
  };
  const workAll = async (): Promise<void> => {
    const failures: Failed[] = [];
    setFailed([]);
    for (const [i, name] of names.entries()) {
      setCount(i);
      failures.push(...(await workOne(name)));
    }
    setCount(undefined);
    setFailed(failures);
    if (failures[0]) throw failures[0].failure;
  };
  return (
    <Act
      label={label}
      command={names.map(command).join('\n')}
      isDanger={props.isDanger ?? false}
      work={workAll}
      done={done}
    >
      {question}
      {count !== undefined && <progress value={count} max={names.length} aria-label={label} />}
      {failed.map(({ name, failure }) => (
        <span class="failed" key={name}>
          <bdi>{titleOf(name)}</bdi>: <English>{failure.message}</English>
        </span>
      ))}
    </Act>
  );
}

interface DeleteProps extends Pick<Props, 'names' | 'titleOf'> {
  kind: Kind;
}

/** Deletes the selected objects. */
export const BulkDelete = ({ kind, names, titleOf }: DeleteProps) => (
  <BulkAct
    names={names}
    label={t('table.delete')}
    question={t('table.delete.what', { count: names.length })}
    command={(name) => deleteCommand(kind, name)}
    isDanger
    work={(name) => deleteObject(kind, name)}
    done={t('table.delete.done')}
    titleOf={titleOf}
  />
);
