/**
 * The dictionary of stored PolicyDecisions: names of fields and the usual values, the most frequent
 * last, because near matches take fewer bits. Must not change.
 */
export const decisionDictionary = Buffer.from(
  [
    '"alternatives":[{"message":"","changes":[{"fact":"SignIn","value":"Passkey"},{"fact":"Group","value":"',
    '"messages":{"ar":"","de":"","es":"","fr":"","it":"","ja":"","nl":"","pl":"","pt-BR":"","tr":"","uk":"","zh-Hans":""}',
    '"type":"ClusterUser","type":"Anonymous"},"owner":"operators"],"groups":["',
    '"facts":{"method":"EmailCode","invited":true,"metadataOnly":true,"newBrowser":true,"acrRequested":"',
    '"operatorsHavePasskeys":true,"operatorsHaveFullPasskeys":true,"methods":["Passkey"],"assurance":"phr"',
    '"kind":"Path","kind":"Group","kind":"Grant","kind":"Passkey","kind":"Session","kind":"PolicyDecision"',
    '"principal":"Anonymous","principal":"Browser","action":"create","action":"update","action":"delete"',
    '"action":"list","action":"watch","action":"patch","action":"get","action":"signUp","kind":"Account"',
    '"action":"interactions/emailchallenge","action":"interactions/login","subresource":"login"',
    '"principal":"Browser::\\"","action":"interactions/consent","resource":{"kind":"Interaction","subresource":"consent"},',
    '"allowed":false,"reasons":[{"rule":"default","message":"No rule permits it."}',
    '"rule":"own-account","message":"You may see and change your own account."',
    '"rule":"own-interaction","message":"The browser that began a sign-in may go on with it."',
    '"rule":"anyone-may-sign-up","message":"Anyone may make an account."',
    '"rule":"any-scope-may-be-shared","message":"You decide what is shared with an app."',
    '{"apiVersion":"id.vestibule.org/v1alpha1","kind":"PolicyDecision","metadata":{"name":"","uid":"',
    '","generation":1,"creationTimestamp":"2026-11-28T21:41:04Z","ownerReferences":[{"apiVersion":',
    '"id.vestibule.org/v1alpha1","kind":"Account","name":"","uid":""}]},"spec":{"account":"","principal":',
    '"Account::\\"\\"","action":"share","scope":"openid","client":"","action":"signIn","resource":{"kind":',
    '"Client","name":""},"policy":"p-1","input":{"caller":{"type":"Account","caller":{"type":"Browser","name":"',
    '"},"name":"","facts":{"account":"","client":"","authenticated":1795,"domain":"","methods":["EmailCode"],',
    '"assurance":"urn:vestibule:acr:email","passkeys":0,"signedInRecently":true,"scopesRequested":["openid","profile","email"],',
    '"site":"none"}}},"site":"same-origin"}}},"status":{"allowed":true,"reasons":[{"rule":"anyone-may-sign-in","message":',
    '"Everyone with an account may sign in."}],"count":1,"firstTimestamp":"2026-11-28T21:41:03Z","lastTimestamp":',
    '"2026-11-28T21:41:04Z"}}{"isRead":true}{"client":"',
  ].join(''),
);
