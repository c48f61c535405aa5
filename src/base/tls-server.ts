// Settings of TLS that all our servers have.
import { constants } from 'node:crypto'

/**
 * For a context or a server. A client of TLS 1.2 may ask for new handshakes, each 0.8 ms of the server's CPU. Node ends the
 * client at the fourth, but not where a TLSSocket was made by hand. PostgreSQL refuses all, too.
 */
export const TLS_SERVER = {
  minVersion: 'TLSv1.2',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const
