// The one way to the engine: a child process that reads one JSON object and answers with one.
// Function declarations, since the host follows `$` past an import into nothing else.
import type { EngineInterface } from 'claude-code'

/**
 * How long a bridge call may take before it counts as failed, in milliseconds.
 *
 * A pass of the policy over a million tokens takes some seconds, and several times that on a busy machine; a summary
 * of the host's own takes about half a minute.
 */
const BRIDGE_TIMEOUT_MS = 45_000

/** The file, below a session's folder, that stands exactly while the engine has something to do at a turn's end. */
const QUEUE_MARK = 'queue'

/** One answer of the bridge; every field is the engine's own word and is carried as it is. */
export type Answer = Readonly<Record<string, unknown>>

/** How the host names a plugin's option to its hooks; the bridge reads the same names. */
const OPTION_PREFIX = 'CLAUDE_PLUGIN_OPTION_'

/** The plugin's options as its hooks read them; the host tells them to the mod and to hooks, not to our children. */
let optionVariables: Readonly<Record<string, string>> = {}

/** Takes the options that the host gave the mod. */
export function takeOptions(options: Readonly<Record<string, unknown>>): void {
  const named = Object.entries(options).map(([key, value]) => [OPTION_PREFIX + key.toUpperCase(), String(value)])

  optionVariables = Object.fromEntries(named) as Record<string, string>
}

/** The environment of a child: the host's for hooks, with the options. */
async function childEnvironment($: EngineInterface): Promise<Record<string, string>> {
  return { ...(await $.process.hookEnv()), ...optionVariables }
}

/** What every call tells the engine of the session. */
type Session = Readonly<{ id: string; transcript: string; cwd: string }>

/** The session as the host knows it now; after `/clear` it is another than at the start. */
export async function sessionOf($: EngineInterface): Promise<Session> {
  const [id, info, cwd] = await Promise.all([$.session.id(), $.session.info(), $.session.cwd()])

  return { id, transcript: info.transcriptPath, cwd }
}

/**
 * The engine's answer to one event.
 *
 * @param event - The bridge's event, such as `compact`.
 * @param input - What the event carries, besides the session.
 * @returns The answer; rejects when the engine could not be reached or failed.
 */
export async function asked($: EngineInterface, event: string, input: object): Promise<Answer> {
  const [env, session] = await Promise.all([childEnvironment($), sessionOf($)])
  const ran = await $.process.run([`${$.plugin.root}/bin/context-editor`, 'bridge', event], {
    env,
    stdin: JSON.stringify({ session, ...input }),
    timeoutMs: BRIDGE_TIMEOUT_MS,
  })
  const isWhole = ran.exitCode === 0 && !ran.isStdoutTruncated

  if (!isWhole) {
    throw new Error(ran.stderr.trim().split('\n').at(-1) || `the engine ended with ${ran.exitCode}`)
  }

  return whole($, JSON.parse(ran.stdout) as Answer)
}

/** How much of an answer's file is read at once, in bytes; the host reads up to 4 MiB. */
const PART_BYTES = 2 * 1024 * 1024

/** The answer itself, where it was too large for the standard output and stands in a file of plain ASCII. */
async function whole($: EngineInterface, answer: Answer): Promise<Answer> {
  const file = answer['file']
  const bytes = answer['bytes']

  if (typeof file !== 'string' || typeof bytes !== 'number') {
    return answer
  }
  const parts: string[] = []

  for (let offset = 0; offset < bytes; offset += PART_BYTES) {
    parts.push(await $.fs.read(file, { offset, length: PART_BYTES }))
  }

  return JSON.parse(parts.join('')) as Answer
}

/** Whether the engine has something to do at the end of a turn: a file test, no process. */
export async function hasQueue($: EngineInterface): Promise<boolean> {
  const [env, id] = await Promise.all([childEnvironment($), $.session.id()])
  const chosen = env[`${OPTION_PREFIX}DATA_DIR`] ?? ''
  const data = chosen.startsWith('/') ? chosen : env['CLAUDE_PLUGIN_DATA']

  return $.fs.exists(`${data}/sessions/${id}/${QUEUE_MARK}`)
}
