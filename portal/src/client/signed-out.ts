// A request that finds nobody signed in any more calls what shows Sign in: the shell sets that.
let act = (): void => undefined

export const onSignedOut = (given: () => void): void => {
  act = given
}

export const tellSignedOut = (): void => act()
