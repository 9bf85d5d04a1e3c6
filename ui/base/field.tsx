import type { ComponentChild, PartialInputHTMLAttributes } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

type Native =
  | 'name'
  | 'value'
  | 'autoComplete'
  | 'autoCapitalize'
  | 'inputMode'
  | 'spellcheck'
  | 'dir'
  | 'class';

interface Props extends Pick<PartialInputHTMLAttributes<HTMLInputElement>, Native> {
  id: string;
  type?: 'text' | 'email';
  label: string;
  hint?: ComponentChild;
  error?: string | undefined;
  /** An error leaves the focus where it is: something else is to be done. */
  still?: boolean;
  onText: (text: string) => void;
}

/** A labelled text field; an error stands next to it, is tied to it and brings the focus here. */
export function Field({ id, label, hint, error, still, onText, type = 'text', ...rest }: Props) {
  const own = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!error || still) return;
    own.current?.focus();
    own.current?.select();
  }, [error]);
  const described = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...rest}
        type={type as 'text'}
        ref={own}
        id={id}
        aria-invalid={error ? true : undefined}
        aria-describedby={described || undefined}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {error && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
