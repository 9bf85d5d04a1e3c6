/**
 * The dictionary of stored Sessions: names of fields and the usual values, in the order of an object.
 * Must not change.
 */
export const sessionDictionary = Buffer.from(
  [
    '"signOut":{"clients":[{"name":"","state":"Notified"},{"name":"","state":"Unsupported"}]},"emailDeliveryState":"',
    '"passkeyChallenges":{},"addedPasskey":{"methods":["Passkey"],"assurance":"phr","method":"Passkey","method":"EmailLink"',
    '"type":"SignedInAgain","type":"TokensIssued","browser":"Safari on iOS"Firefox on Windows"Edge on macOS"',
    '"client":{"browser":"Safari","os":"iOS","device":"Phone"},"browser":"Firefox","os":"Windows","os":"macOS","browser":"Edge"',
    '"client":{"browser":"Chrome","os":"Android","device":"Phone","device":"Tablet","browser":"Chrome on Android"',
    '{"apiVersion":"id.vestibule.org/v1alpha1","kind":"Session","metadata":{"name":"","uid":"","generation":1,',
    '"creationTimestamp":"2026-11-28T21:41:03Z","ownerReferences":[{"apiVersion":"id.vestibule.org/v1alpha1",',
    '"kind":"Account","name":"","uid":""}]},"spec":{},"status":{"account":"","current":false,',
    '"authenticationTimestamp":"2026-11-28T21:41:03Z","methods":["EmailCode"],"assurance":"urn:vestibule:acr:email",',
    '"client":{"browser":"Chrome","os":"Linux","device":"Desktop"},"lastUsedTimestamp":"2026-11-28T21:41:03Z",',
    '"expirationTimestamp":"2026-12-12T21:41:03Z","clients":[{"name":"","displayName":""}],"recentEvents":[',
    '{"type":"SignedIn","timestamp":"2026-11-28T21:41:03Z","method":"EmailCode","browser":"Chrome on Linux"},',
    '{"type":"CodeIssued","timestamp":"2026-11-28T21:41:03Z","client":""}]}}{"recordKey":"oidc/Session/","uidDigest":"",',
    '"loginSeconds":1795902063,"epoch":0,"expires":1797111663000}',
  ].join(''),
);
