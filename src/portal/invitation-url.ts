// The page that takes a code. The code is behind the #, so that no server and no log sees it with the address.

/** `portalUrl` has no slash at its end. */
export const invitationUrl = (portalUrl: string, code: string): string =>
  `${portalUrl}/sign-up#${code}`
