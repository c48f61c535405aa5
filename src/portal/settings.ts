// The settings that the agent gives the portal's half of a gateway.

export type SignUpRule = 'open' | 'invite' | 'closed'

export type PortalSettings = {
  /** Undefined: the service has no portal. */
  readonly site?: {
    readonly port: number
    /** The public address, without a slash at its end. */
    readonly url: string
    readonly signUp: SignUpRule
    /** The kind of money of new accounts. */
    readonly env: 'live' | 'test'
    /** The address of the API and of storage: previews of pictures come from there. */
    readonly baseUrl: string
    /** The address of the status page, which answers while the portal does not. */
    readonly statusUrl: string
    /** The price in pico-dollars a joule, and the free joules of a day, which pages tell. */
    readonly pusdPerJ: string
    readonly freeJ: string
    /** All of the installation: no login sends its code to one of them. */
    readonly ports: readonly number[]
    /** The folder of the console's build. */
    readonly files: string
  }
}
