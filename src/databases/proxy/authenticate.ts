// The login of a client: SCRAM-SHA-256, with channel binding where there is TLS.
import type { Socket } from 'node:net'
import {
  createScramServer,
  SCRAM,
  SCRAM_PLUS,
  ScramFault,
  type Verifier,
} from '#databases/logins/scram.ts'
import { LoginRefusal } from './handshake.ts'
import { readMessage, type ByteWait } from './read-bytes.ts'
import { authentication, TYPE, violation, type FatalError } from '#wire/messages.ts'

/** The SQLSTATE of a wrong password. */
export const WRONG_PASSWORD = '28P01'
const SASL = 10
const SASL_CONTINUE = 11
const SASL_FINAL = 12
const MESSAGE_BYTES_MAX = 8192

/** Resolves when the client has proved that it knows the password; rejects with a LoginRefusal (28P01, 08P01). */
export async function authenticate(
  socket: Socket,
  login: {
    readonly role: string
    readonly verifier: Verifier
    /** The binding data of tls-server-end-point. */
    readonly channel: Buffer | undefined
  },
  waiting: ByteWait,
): Promise<void> {
  const { role, verifier, channel } = login
  const scram = createScramServer(verifier, channel)
  const mechanisms = channel === undefined ? [SCRAM] : [SCRAM_PLUS, SCRAM]
  const answerOf = async (): Promise<Buffer> => {
    const { type, body } = await readMessage(socket, MESSAGE_BYTES_MAX, waiting)
    if (type !== TYPE.password) throw new ScramFault('another message than that of SASL came')
    return body
  }
  try {
    socket.write(authentication(SASL, ...mechanisms, Buffer.from([0])))
    const { mechanism, text } = initialResponse(await answerOf())
    if (!mechanisms.includes(mechanism))
      throw new ScramFault(`the mechanism ${mechanism.slice(0, 40)} is not offered`)
    socket.write(authentication(SASL_CONTINUE, Buffer.from(scram.first(mechanism, text))))
    const last = scram.last((await answerOf()).toString('utf8'))
    socket.write(authentication(SASL_FINAL, Buffer.from(last)))
  } catch (error) {
    if (error instanceof ScramFault)
      throw new LoginRefusal(
        socket,
        error.isWrongPassword ? wrongPassword(role) : violation(error.message),
      )
    if (error instanceof RangeError) throw new LoginRefusal(socket, violation(error.message))
    throw error
  }
}

/** Equal for a role that there is not: strangers learn no names. */
const wrongPassword = (role: string): FatalError => ({
  code: WRONG_PASSWORD,
  message: `password authentication failed for user "${role}"`,
  hint: 'User and password are those of the connection string: ergon db url',
})

/** The body of SASLInitialResponse: the mechanism, the length of the text, the text. */
function initialResponse(body: Buffer): { readonly mechanism: string; readonly text: string } {
  const end = body.indexOf(0)
  if (end < 0 || body.length < end + 5)
    throw new ScramFault('the first message of SASL is malformed')
  return { mechanism: body.toString('utf8', 0, end), text: body.toString('utf8', end + 5) }
}
