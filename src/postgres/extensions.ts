// The extensions that a role without rights of the server may create: those that PostgreSQL trusts, and some that are
// as harmless. The others are refused with words. A server never has the code of an extension that opens connections or
// files, or runs another language.
import { appendFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const EXTENSIONS = 'share/postgresql/extension'
const LIBRARIES = 'lib/postgresql'

/**
 * Trusted beside PostgreSQL's own. Their scripts name nothing that the role could define first, and their functions
 * check the rights of the caller: index access method, triggers, and the locks of rows that the caller may read.
 */
const ALSO_TRUSTED = ['autoinc', 'bloom', 'insert_username', 'moddatetime', 'pgrowlocks']

const LANGUAGE = 'functions are in SQL and PL/pgSQL'
const NETWORK = 'a server has no network'
const FILES = 'a server gives no files'
const INNARDS = 'pages and memory of the server are not given'
/** Scripts of PostgreSQL 16 that a role can mislead while they run as the superuser. */
const MISLED = 'its installation is not safe before PostgreSQL 17'
const OUTDATED = 'PostgreSQL itself does this'

/** Removed, by reason. pg_stat_statements and amcheck stay as PostgreSQL has them: for the superuser. */
const REFUSED: Readonly<Record<string, string>> = {
  [LANGUAGE]: `plperl plperlu pltcl pltclu plpython3u bool_plperl bool_plperlu jsonb_plperl jsonb_plperlu
    jsonb_plpython3u hstore_plperl hstore_plperlu hstore_plpython3u ltree_plpython3u`,
  [NETWORK]: 'dblink postgres_fdw sslinfo',
  [FILES]: 'adminpack file_fdw dict_xsyn',
  [INNARDS]: `old_snapshot pageinspect pg_buffercache pg_freespacemap pg_prewarm pg_surgery pg_visibility
    pg_walinspect pgstattuple`,
  [MISLED]: 'earthdistance',
  [OUTDATED]: 'intagg refint xml2',
}
/** Libraries that are not named as their extension is. */
const OTHER_LIBRARIES = [
  'plpython3.so',
  'pgxml.so',
  'jsonb_plpython3.so',
  'hstore_plpython3.so',
  'ltree_plpython3.so',
]

/** Makes a tree of npm's files give the extensions of the list, and no others. */
export async function limitExtensions(root: string): Promise<void> {
  const scripts = await readdir(join(root, EXTENSIONS))
  for (const name of ALSO_TRUSTED)
    await appendFile(join(root, EXTENSIONS, `${name}.control`), 'trusted = true\n')
  for (const file of OTHER_LIBRARIES) await rm(join(root, LIBRARIES, file), { force: true })
  for (const [why, names] of Object.entries(REFUSED))
    for (const name of names.split(/\s+/)) {
      for (const file of scripts.filter((script) => script.startsWith(`${name}--`)))
        await rm(join(root, EXTENSIONS, file))
      await rm(join(root, LIBRARIES, `${name}.so`), { force: true })
      await layRefusal(root, name, {
        comment: `not served: ${why}`,
        message: `the extension ${name} is not served: ${why}`,
        hint: "Those that are: select name from pg_available_extensions where comment not like 'not served%'",
      })
    }
}

/** Makes CREATE EXTENSION fail with words. */
export async function layRefusal(
  root: string,
  name: string,
  words: { readonly comment: string; readonly message: string; readonly hint: string },
): Promise<void> {
  const folder = join(root, EXTENSIONS)
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
  await writeFile(
    join(folder, `${name}.control`),
    `comment = ${quoted(words.comment)}\n` +
      "default_version = 'absent'\nrelocatable = true\ntrusted = true\n",
  )
  await writeFile(
    join(folder, `${name}--absent.sql`),
    `DO $$ BEGIN
  RAISE EXCEPTION USING
    MESSAGE = ${quoted(words.message)},
    ERRCODE = 'feature_not_supported',
    HINT = ${quoted(words.hint)};
END $$;
`,
  )
}
