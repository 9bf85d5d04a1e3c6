import type { ComponentChildren } from 'preact';

interface Props {
  look?: string;
  role?: 'search';
  /** The browser itself checks what is required. */
  isChecked?: boolean;
  onSubmit: () => void;
  children: ComponentChildren;
}

/** A form that the script sends. Without it the browser would, and not in the address. */
export const Form = ({ look, role, isChecked = false, onSubmit, children }: Props) => (
  <form
    class={look}
    role={role}
    method="post"
    noValidate={!isChecked}
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit();
    }}
  >
    {children}
  </form>
);
