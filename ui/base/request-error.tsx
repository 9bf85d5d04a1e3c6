import type { ApiError } from './api/api.js';
import { errorText, Reference } from './error-page.js';
import { Text } from './text/message.js';
import { refusalText } from './refusal-text.js';

/** Why a request failed: the message of the rule that refused it, or the error; with the reference. */
export const RequestError = ({ failure }: { failure: ApiError }) => (
  <>
    <p>
      {failure.code === 403 ? <Text of={refusalText(failure)} max={500} /> : errorText(failure)}
    </p>
    <Reference failure={failure} />
  </>
);
