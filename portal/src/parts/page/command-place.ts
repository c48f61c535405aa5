// Places of commands, so that each page that offers a command says what a fresh terminal needs: a login at this service with
// enough scope, or the machine of the service.

/** Commands that ask the operator's socket in the data folder, and not the API. */
const ON_MACHINE =
  /^ergon (admin|artifacts|meter|signers|status|models (add|alias|remove)|storage (keys|move))\b/
/** Commands of tokens, members and evidence; each other one needs no more than a login proposes by itself. */
const OF_BILLING = /^ergon (tokens|members|evidence (create|delete))\b/

/** The machine of the service, or a login; its scope where the login proposes less by itself. */
export type CommandPlace = 'machine' | { readonly login: 'billing-admin' | undefined }

/** Undefined for what is no command of `ergon`, and for the login itself. */
export function commandPlace(text: string): CommandPlace | undefined {
  const line = text.split('\n').find((each) => /^ergon\s/.test(each))
  if (line === undefined || /^ergon\s+login\b/.test(line)) return undefined
  if (ON_MACHINE.test(line)) return 'machine'
  return { login: OF_BILLING.test(line) ? 'billing-admin' : undefined }
}
