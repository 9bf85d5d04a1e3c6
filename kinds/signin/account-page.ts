/** The built-in Client of the account page and the console: it gets a session, never a code. */
export const accountPageClient = 'vestibule-account';
