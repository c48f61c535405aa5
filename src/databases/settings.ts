// The settings of databases that the agent gives to the gateways.

export type GatewaySettings = {
  /** False where the node runs no databases: those that there are can be listed and deleted. */
  readonly isOn: boolean
  /** The key of all passwords. */
  readonly passwordKey: string
  readonly region: string
  /** The database endpoint. */
  readonly host: string
  readonly port: number
  /** The folder of the unix socket of a proxy, for queries of the API. */
  readonly socketFolder: string
  /** The time for which a deleted database can be restored. */
  readonly backupsKeptMs: number
}
