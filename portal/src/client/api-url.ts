// The address of the API, for code and commands to copy: the portal writes it into its page.

export const apiUrl = (): string =>
  document.querySelector<HTMLMetaElement>('meta[name="ergon-api"]')?.content ?? '{base_url}'
