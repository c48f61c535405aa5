// Addresses that the portal writes into its page: that of the API, for code and commands to copy, and that of the status
// page, which answers while the portal does not.

export const apiUrl = (): string => written('ergon-api') ?? '{base_url}'

export const statusUrl = (): string => written('ergon-status') ?? '{status_url}'

const written = (name: string): string | undefined =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content
