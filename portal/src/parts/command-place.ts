// Where a command of the command line runs, so that each page that offers a command says what a fresh terminal needs: a
// login at this service, or the machine of the service.

/** Commands that ask the operator's socket in the data folder, and not the API. */
const ON_MACHINE =
  /^ergon (admin|artifacts|meter|signers|status|models (add|alias|remove)|storage (keys|move))\b/

/** Undefined for what is no command of `ergon`, and for the login itself. */
export function commandPlace(text: string): 'login' | 'machine' | undefined {
  const line = text.split('\n').find((each) => /^ergon\s/.test(each))
  if (line === undefined || /^ergon\s+login\b/.test(line)) return undefined
  return ON_MACHINE.test(line) ? 'machine' : 'login'
}
