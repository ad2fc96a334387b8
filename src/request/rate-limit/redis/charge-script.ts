import { VERSION_MS } from '../../../ground/kernel/data-versions.js';
import { LADDER_MINUTES, LONGEST_BAN_MS, QUIET_MS, STRIKES_TO_BAN } from '../rules/bans.js';
import { BURST_MS, PACES, type Pace } from '../rules/strikes.js';
import { SET_BACK_MS } from '../rules/windows.js';

/** The data version during a write: no process may serve from its cache. */
export const WRITING = 'writing';

/**
 * The decision of `MemoryLimiter.charge` as one atomic step inside Redis, by Redis's clock. D-36. `windows.ts`, `bans.ts` and
 * `strikes.ts` give the reasons; a test runs the same requests through both.
 *
 * KEYS[1] the subject's windows, four packed integers.
 * KEYS[2] the key's ban record. Absent without a key.
 * KEYS[3] with an allowance its minute, two packed integers; otherwise the version of the project's data, created here
 * when missing. Absent when not requested.
 * ARGV[1] cost, -1 = peek. ARGV[2] units per minute. ARGV[3] units per day, -1 = none.
 * ARGV[4] milliseconds since 1970 instead of Redis's clock, for tests; empty = none.
 * ARGV[5] units of the allowance. ARGV[6] its units per minute. Both absent without one.
 *
 * Replies with a flat array, which may grow at its end.
 * REPLY[1] the clock in milliseconds. REPLY[2] outcome: 0 admitted or peeked, 1 refused, 2 refused and now banned,
 * 3 refused with a strike.
 * REPLY[3] minute. REPLY[4] minuteUsed. REPLY[5] day. REPLY[6] dayUsed.
 * REPLY[7] the ban record as text, empty = none. REPLY[8] the version of the data, empty = not requested, or being
 * written.
 * REPLY[9] minute of the allowance. REPLY[10] its minuteUsed. Both absent without one.
 *
 * Keys expire a minute after their windows, because a clock may be set back; the window numbers decide, not the expiry.
 * Only the first write of a window sets the expiry: SET with PX takes Redis twice as long as SETRANGE, and this script
 * runs for every request. The windows of a project expire with its day, also without a day quota: it can get one later.
 */
export const CHARGE_SCRIPT = `
local call = redis.call
local now = ARGV[4]
local micros = now
if now and now ~= '' then
  now = now + 0
else
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
  micros = time[1] .. '.' .. time[2]
end
local cost, perMinute, perDay = ARGV[1] + 0, ARGV[2] + 0, ARGV[3] + 0
local hasKey = KEYS[2] ~= nil
local stored = call('MGET', KEYS[1], KEYS[2] or KEYS[1], KEYS[3] or KEYS[1])
local allowed = ARGV[5] and ARGV[5] + 0
local version = KEYS[3] and not allowed and stored[3] or ''
if KEYS[3] and not allowed and version == '' then
  version = micros
  call('SET', KEYS[3], version, 'PX', ${VERSION_MS})
elseif version == '${WRITING}' then
  version = ''
end

local minute, minuteUsed = (now - now % 60000) / 60000, 0
local day, dayUsed = (now - now % 86400000) / 86400000, 0
local isDaily, hasExpiry = hasKey or perDay >= 0, false
local own, ownUsed, isAllowed = nil, nil, true
if allowed then
  own, ownUsed = minute, 0
  if stored[3] then
    local m, mUsed = struct.unpack('<I4I4', stored[3])
    if m == minute or m == minute + 1 then own, ownUsed = m, mUsed end
  end
  isAllowed = ownUsed + allowed <= ARGV[6] + 0
end
if stored[1] then
  local m, mUsed, d, dUsed = struct.unpack('<I4I4I4I4', stored[1])
  if m == minute or m == minute + 1 then
    minute, minuteUsed, hasExpiry = m, mUsed, not isDaily
  end
  if d == day or d == day + 1 and (now + ${SET_BACK_MS}) / 86400000 >= d then
    day, dayUsed = d, dUsed
    hasExpiry = hasExpiry or isDaily
  end
end

local text = hasKey and stored[2] or ''
if cost < 0 then return {now, 0, minute, minuteUsed, day, dayUsed, text, version} end
local strikes, step, quietSince, untilMs, refusedAt, retryAt = 0, 0, 0, 0, 0, 0
local last, fast, slow, slowAt = 0, 0, 0, 0
local hasBlock = false
if text ~= '' then
  local counts
  strikes, step, quietSince, untilMs, refusedAt, retryAt, counts = string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (.*)$')
  strikes, step, quietSince, untilMs = strikes + 0, step + 0, quietSince + 0, untilMs + 0
  refusedAt, retryAt = refusedAt + 0, retryAt + 0
  hasBlock = retryAt ~= 0
  local l, f, s, a = string.match(counts, '^(%d+) (%d+) (%d+) (%d+)$')
  if l then last, fast, slow, slowAt = l + 0, f + 0, s + 0, a + 0 end
  if quietSince - now > ${LONGEST_BAN_MS} then
    strikes, step, quietSince, untilMs, refusedAt, retryAt, last, fast, slow, slowAt = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
  end
  if cost > 0 and now < untilMs then
    return {now, 1, minute, minuteUsed, day, dayUsed, text, version, own, ownUsed}
  end
end

local minuteOver, dayOver = minuteUsed + cost > perMinute, perDay >= 0 and dayUsed + cost > perDay
local isWithin = cost == 0 or not minuteOver and not dayOver
local fits = isWithin and isAllowed
if fits and allowed then
  ownUsed = ownUsed + allowed
  call('SET', KEYS[3], struct.pack('<I4I4', own, ownUsed), 'PX', (own + 1) * 60000 - now + 60000)
end
if fits and cost == 0 then
  return {now, 0, minute, minuteUsed, day, dayUsed, text, version, own, ownUsed}
elseif fits then
  minuteUsed, dayUsed = minuteUsed + cost, dayUsed + cost
  local packed = struct.pack('<I4I4I4I4', minute, minuteUsed, day, dayUsed)
  if hasExpiry then
    call('SETRANGE', KEYS[1], 0, packed)
  else
    local windowsEnd = isDaily and (day + 1) * 86400000 or (minute + 1) * 60000
    call('SET', KEYS[1], packed, 'PX', windowsEnd - now + 60000)
  end
  if not hasBlock then return {now, 0, minute, minuteUsed, day, dayUsed, text, version, own, ownUsed} end
elseif not hasKey or isWithin then
  return {now, 1, minute, minuteUsed, day, dayUsed, text, version, own, ownUsed}
end

local quiet = math.floor((now - quietSince) / ${QUIET_MS})
if quiet >= 1 and (strikes > 0 or step > 0) then
  strikes, step, quietSince = 0, math.max(0, step - quiet), quietSince + quiet * ${QUIET_MS}
end
local outcome = 1
if fits then
  outcome, refusedAt, retryAt, last, fast, slow, slowAt = 0, 0, 0, 0, 0, 0, 0
elseif now >= retryAt or now < refusedAt then
  refusedAt, retryAt = now, dayOver and (day + 1) * 86400000 or (minute + 1) * 60000
  last, fast, slow, slowAt = now, 0, 0, 0
else
  local pause = now - last
  last = now
  if now - refusedAt > ${BURST_MS} then
    fast = ${luaCount(PACES.fast, 'fast')} + 1
    slow = ${luaCount(PACES.slow, 'slow')}
    if now - slowAt >= ${PACES.slow.apartMs} then slow, slowAt = slow + 1, now end
    if fast > ${PACES.fast.most} or slow > ${PACES.slow.most} then
      strikes, quietSince, outcome = strikes + 1, now, 3
      fast, slow = math.min(fast, ${PACES.fast.most}), math.min(slow, ${PACES.slow.most})
    end
  end
end
if strikes >= ${STRIKES_TO_BAN} then
  local ladder = {${LADDER_MINUTES.join(', ')}}
  untilMs = now + ladder[step + 1] * 60000
  strikes, step, quietSince, refusedAt, retryAt = 0, math.min(step + 1, #ladder - 1), untilMs, 0, 0
  outcome, last, fast, slow, slowAt = 2, 0, 0, 0, 0
end

local format = '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f'
text = string.format(format, strikes, step, quietSince, untilMs, refusedAt, retryAt, last, fast, slow, slowAt)
local quietHours = step > 0 and step or (strikes > 0 and 1 or 0)
local forgottenAt = math.max(untilMs, retryAt, quietHours > 0 and quietSince + quietHours * ${QUIET_MS} or 0)
call('SET', KEYS[2], text, 'PX', math.max(0, forgottenAt - now) + 60000)
return {now, outcome, minute, minuteUsed, day, dayUsed, text, version, own, ownUsed}
`;

/** `counted` of `strikes.ts`, without the request itself. */
function luaCount({ pauseMs, forgivingMs }: Pace, count: string): string {
  return `math.max(0, ${count} - math.max(0, math.floor((pause - ${pauseMs}) / ${forgivingMs})))`;
}
