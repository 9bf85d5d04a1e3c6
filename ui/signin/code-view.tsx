import { useEffect, useRef, useState } from 'preact/hooks';
import type { EmailChallenge } from '../api.js';
import type { MessageID } from '../messages/catalog.js';
import { Button } from '../base/button.js';
import { Field } from '../base/field.js';
import { clockTime, Latin, say, tell } from '../base/message.js';
import { View } from '../base/view.js';
import { isCode, tidyCode } from '../base/code.js';
import type { Flow } from './flow.js';
import { MailboxLink } from './mailbox-link.js';
import { Resend } from './resend.js';

const spent = (flow: Flow): boolean =>
  flow.problem?.action === 'login' && (flow.problem.failure.code === 410 || flow.problem.failure.details.triesLeft === 0);

function CodeForm({ flow, challenge: { sentTimestamp, expirationTimestamp } }: { flow: Flow; challenge: EmailChallenge }) {
  const [code, setCode] = useState('');
  const [malformed, setMalformed] = useState(false);
  const sent = useRef('');
  useEffect(() => { setCode(''); setMalformed(false); }, [sentTimestamp]);   // what was typed belongs to the code before
  const send = (value: string): void => {
    setMalformed(!isCode(value));
    if (!isCode(value)) return;
    sent.current = sentTimestamp + value;
    void flow.act('login', { spec: { method: 'EmailCode', code: value } });
  };
  const take = (typed: string): void => {
    const tidy = tidyCode(typed);
    setCode(tidy);
    setMalformed(false);
    if (isCode(tidy) && sent.current !== sentTimestamp + tidy) send(tidy);
  };
  const problem = flow.problem?.action === 'login' && flow.problem.quiet ? flow.problem : undefined;
  const error = malformed ? say('code.shape') : problem?.words;
  return (
    <form method="post" noValidate onSubmit={(event) => { event.preventDefault(); send(code); }}>
      <Field id="code" name="code" label={say('code.label')} type="text" inputMode="numeric" autoComplete="one-time-code" dir="ltr" class="code"
        spellcheck={false} value={code} error={error} still={spent(flow)} hint={!spent(flow) && tell('code.until', { time: clockTime(expirationTimestamp) })} onText={take} />
      <Button look="main" submit busy={flow.busy === 'login'} progress="code.checking">{say('code.go')}</Button>
    </form>
  );
}

function Help() {
  return (
    <details>
      <summary>{say('code.help')}</summary>
      <ul>
        <li>{say('code.help.spam')}</li>
        <li>{say('code.help.spelling')}</li>
        <li>{say('code.help.wait')}</li>
      </ul>
    </details>
  );
}

/** After the address: the code from the email, or another try. */
export function CodeView({ flow }: { flow: Flow }) {
  const { phase, methods = ['EmailCode', 'EmailLink'], emailChallenge } = flow.interaction!.status;
  const challenge = emailChallenge!;
  const code = methods.includes('EmailCode');
  const sent: MessageID = code ? methods.includes('EmailLink') ? 'code.sent' : 'code.sent.code' : 'code.sent.link';
  return (
    <View title="code.title" phase={phase} error={Boolean(flow.problem)}>
      <p class="lead">{tell(sent, { email: <Latin of={challenge.email} strong /> })}</p>
      {code && <CodeForm flow={flow} challenge={challenge} />}
      <div class="ways">
        <Resend flow={flow} challenge={challenge} wanted={spent(flow)} />
        <Button press={() => flow.again()}>{say('code.other')}</Button>
      </div>
      <Help />
      <MailboxLink />
    </View>
  );
}
