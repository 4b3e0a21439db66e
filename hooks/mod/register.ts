// What context-editor hears of the host, one line an event; every decision is the engine's.
import type { CommandRunInput, CommandRunResult, EngineInterface, Register } from 'claude-code'

import { asked, hasQueue, takeOptions } from './bridge.js'
import { digested } from './digests.js'
import { idles, takeIdle, woken } from './idle.js'
import { conversationOf, glimpses } from './rows.js'

/** How our own compactions begin: the engine's apply and repair commands (spec J10). */
const OWN_COMMAND = 'context-editor:'

/** Whether a compaction is one of ours, by what stands behind the command. */
const isOurs = (instructions: string | undefined): boolean => (instructions ?? '').startsWith(OWN_COMMAND)

/** One line for the person, on the screen and in the debug log. */
const tell = ($: EngineInterface, line: string): void => {
  $.ui.toast(line)
  $.ui.log(line, { to: 'debug' })
}

/** What an error says, in one line. */
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Runs a call on which nothing depends; a failure is told and changes nothing. */
const quietly = async ($: EngineInterface, call: Promise<unknown>): Promise<void> => {
  await call.catch((error: unknown) => tell($, `context-editor: ${reasonOf(error)}`))
}

/** Says to the engine that this process hears the host's events, and what the host knows of the window. */
const greeted = async ($: EngineInterface): Promise<void> => {
  const [usage, messages] = await Promise.all([$.session.usage({ breakdown: 'summary' }), $.session.messages()])
  const answer = await asked($, 'hello', { usage, rows: glimpses(messages) })
  const notice = answer['notice']

  takeIdle(answer['idle'])
  if (typeof notice === 'string' && notice !== '') {
    tell($, notice)
  }
  const repair = answer['repair']

  if (typeof repair === 'string' && repair !== '') {
    void quietly($, $.command.run({ command: 'compact', args: repair }))
  }
}

/** Submits the continuation, where there is one. */
const resumed = async ($: EngineInterface, resume: unknown): Promise<void> => {
  if (typeof resume === 'string' && resume !== '') {
    await $.prompt.submit({ text: resume })
  }
}

/** How a turn ended: by itself or not, with which answer, and when. */
type TurnEnd = Readonly<{ isNormal: boolean; answer: string; endedMs: number }>

/** Applies what is queued: the compaction and the continuation are queued at once, and run in this order. */
const applied = async ($: EngineInterface, end: TurnEnd): Promise<void> => {
  const turn = await asked($, 'turn-end', end)
  const notice = turn['notice']
  const args = turn['command']
  const resume = turn['resume']

  if (typeof notice === 'string' && notice !== '') {
    tell($, notice)
  }
  if (typeof args !== 'string' || args === '') {
    return
  }
  if (turn['digests'] === true) {
    await quietly($, digested($))
  }
  const compaction = $.command.run({ command: 'compact', args })

  void quietly(
    $,
    compaction.then(() => asked($, 'confirm', {})),
  )
  void quietly($, resumed($, resume))
}

/** The commands that are answered to the person; the rest of ours are prompts for the model. */
const FOR_THE_PERSON = /^context-editor:(?!(?:optimize|molt)$)/

/** How long an apply waits for the command that ordered it to end: the host runs none from inside of another. */
const APPLY_DELAY_MS = 50

/** Runs one of our compactions, and takes in what the host wrote. */
const compacted = async ($: EngineInterface, args: string, wantsDigests: boolean): Promise<void> => {
  if (wantsDigests) {
    await quietly($, digested($))
  }
  await $.command.run({ command: 'compact', args })
  await asked($, 'confirm', {})
}

/** The answer to a person's command; what it queued is applied at once. */
const commanded = async ($: EngineInterface, e: CommandRunInput): Promise<CommandRunResult> => {
  const answer = await asked($, 'command', { name: e.command.slice(OWN_COMMAND.length), args: e.args })
  const args = answer['command']

  if (typeof args === 'string' && args !== '') {
    $.clock.after(APPLY_DELAY_MS, () => void quietly($, compacted($, args, answer['digests'] === true)))
  }

  return { text: String(answer['text']), isTextDisplayOnly: true }
}

export const register: Register = (on, options) => {
  takeOptions(options)

  on('command.run', { command: FOR_THE_PERSON }, commanded).catch(() => ({
    text: 'the engine did not answer; nothing was changed',
    isTextDisplayOnly: true,
  }))

  on('session.start', async ($, e, next) => {
    const started = await next(e)

    await quietly($, greeted($))

    return started
  })

  on('prompt.submit', ($, e, next) => {
    woken(!(e.origin.kind === 'plugin' && e.origin.name === $.plugin.name))

    return next(e)
  }).catch((_, e, next) => next(e))

  on('turn.start', (_, e, next) => {
    if (e.agentId === undefined) {
      woken(false)
    }

    return next(e)
  }).catch((_, e, next) => next(e))

  on('turn.complete', async ($, e, next) => {
    const endedMs = await $.clock.now()
    const completed = await next(e)
    const isMainLoop = e.agentId === undefined

    if (isMainLoop) {
      idles($)
    }
    if (isMainLoop && (await hasQueue($))) {
      await quietly($, applied($, { isNormal: e.reason === 'answer', answer: e.answer, endedMs }))
    }

    return completed
  })

  on('session.compact', { trigger: 'precompute' }, async ($, e, next) => {
    const answer = await asked($, 'precompute', {})

    return answer['skip'] === true ? { skip: 'context-editor: its retention policy is on' } : next(e)
  }).catch((_, e, next) => next(e))

  on('session.compact', { trigger: 'manual' }, async ($, e, next) => {
    if (e.agentId !== undefined) {
      return next(e)
    }
    if (!isOurs(e.instructions)) {
      await quietly($, asked($, 'archive', {}))

      return next(e)
    }
    const answer = await asked($, 'compact', {
      trigger: e.trigger,
      instructions: e.instructions ?? '',
      rows: glimpses(e.messages),
    })
    const skip = answer['skip']

    return typeof skip === 'string' && skip !== '' ? { skip } : { messages: conversationOf(answer, e.messages) }
  }).catch((_, e, next) =>
    isOurs(e.instructions)
      ? { skip: 'context-editor: nothing was applied: the engine did not answer; the queue stays' }
      : next(e),
  )

  on('session.compact', { trigger: 'auto' }, async ($, e, next) => {
    if (e.agentId !== undefined) {
      return next(e)
    }
    const answer = await asked($, 'compact', { trigger: e.trigger, rows: glimpses(e.messages) })
    const rows = answer['rows']
    const hasRows = Array.isArray(rows) && rows.length > 0
    const messages = hasRows ? conversationOf(answer, e.messages) : e.messages

    if (answer['hosts'] === true) {
      return next({ ...e, messages })
    }
    void quietly($, asked($, 'confirm', {}))

    return { messages }
  }).catch((_, e, next) => next(e))
}
