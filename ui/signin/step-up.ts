import stepup from '../messages/en/stepup.json';

/** Why a session is not enough, by reason. */
export const messages = stepup;
