import { Button } from '../../base/button.js';
import { locale } from '../../base/text/i18n.js';
import { t } from '../../base/text/message.js';

/** What the control of a field has in common with all others. */
export interface ControlAttributes {
  readonly id: string;
  readonly value: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
  readonly 'aria-required': true | undefined;
  readonly onInput: (event: { currentTarget: { value: string } }) => void;
}

type Props = ControlAttributes & { readonly name: string };

/** Returns the bytes of a file in base64. */
function readBase64(file: File): Promise<string> {
  const reader = new FileReader();
  return new Promise((resolve, reject) => {
    reader.onload = () => resolve((reader.result as string).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error!);
    reader.readAsDataURL(file);
  });
}

const sizeOf = (base64: string): string =>
  new Intl.NumberFormat(locale(), {
    style: 'unit',
    unit: 'kilobyte',
    maximumFractionDigits: 0,
  }).format(Math.ceil((base64.length * 3) / 4 / 1024));

/** A file to choose, and the one that is stored under a path of this service or was chosen. */
export function FilePicker({ name, value, onInput, ...shared }: Props) {
  const set = (next: string): void => onInput({ currentTarget: { value: next } });
  return (
    <>
      {value && (
        <p class="chosen">
          {value.startsWith('/') ? (
            <img class="logo" src={value} alt={name} />
          ) : (
            <bdi>{sizeOf(value)}</bdi>
          )}{' '}
          <Button variant="small" onPress={() => set('')}>
            {t('console.item.remove', { item: name })}
          </Button>
        </p>
      )}
      <input
        {...shared}
        type="file"
        onChange={({ currentTarget: { files } }) => {
          if (files?.[0]) void readBase64(files[0]).then(set);
        }}
      />
    </>
  );
}

/** A colour as text, which may be empty, beside the browser's colour picker. */
export function ColorPicker({ name, ...shared }: Props) {
  return (
    <div class="color">
      <input {...shared} type="text" autoComplete="off" spellcheck={false} dir="ltr" />
      <input
        type="color"
        aria-label={name}
        value={/^#[0-9a-f]{6}$/i.test(shared.value) ? shared.value : '#000000'}
        onInput={shared.onInput}
      />
    </div>
  );
}
