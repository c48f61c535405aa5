// What our servers ask of TLS.
import { constants } from 'node:crypto'

/**
 * For a context or a server. A client of TLS 1.2 may ask for a new handshake, 0.5 ms of the server's CPU, as often as it likes;
 * Node ends it at the fourth, but not where a TLSSocket was made by hand. PostgreSQL refuses all, too.
 */
export const TLS_SERVER = {
  minVersion: 'TLSv1.2',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const
