// Settings of a session in its startup message. A server reads `options` as a command line: of that, settings alone are
// served, and none that would make logins wait.
import type { FatalError } from '#wire/messages.ts'

const ARGUMENT = /(?:\\.?|[^\\ \t\n\v\f\r])+/gs
const SETTING = /^([^=]+)=/
/** It keeps a backend for as long as it says, before the session begins. */
const DELAY = 'post_auth_delay'

/** The reason to refuse a startup message; undefined where there is none. */
export function startupRefusal(parameters: ReadonlyMap<string, string>): FatalError | undefined {
  const names = [...parameters.keys()]
  const rest = argumentsOf(parameters.get('options') ?? '').values()
  for (const argument of rest) {
    const setting = argument === '-c' ? rest.next().value : /^(?:-c|--)(.+)/s.exec(argument)?.[1]
    const name = SETTING.exec(setting ?? '')?.[1]
    if (name === undefined)
      return {
        code: '0A000',
        message: `the startup option "${argument.slice(0, 100)}" is not served`,
        hint: 'Use -c name=value or --name=value.',
      }
    names.push(name)
  }
  if (!names.some((name) => name.toLowerCase().replaceAll('-', '_') === DELAY)) return undefined
  const message = `permission denied to set parameter "${DELAY}"`
  return { code: '42501', message, hint: 'Leave it out: it would make logins wait.' }
}

/** As pg_split_opts() of PostgreSQL: white space separates, a backslash takes the next character as it is. */
const argumentsOf = (options: string): readonly string[] =>
  [...options.matchAll(ARGUMENT)].map(([text]) => text.replaceAll(/\\(.?)/gs, '$1'))
