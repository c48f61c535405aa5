// Steps that an account has declined in this browser, for ever. The next account of the browser has its own.
const KEPT = 'ergon.declined'
const placeOf = (account: string): string => `${KEPT} ${account}`

export const declined = {
  of: (account: string): readonly string[] =>
    (localStorage.getItem(placeOf(account)) ?? '').split(' '),
  add(account: string, step: string): void {
    localStorage.setItem(placeOf(account), [...declined.of(account), step].join(' '))
  },
}
