-- Health of a DatasetTask from what its agents report. Argo CD runs this without the string and math libraries.
local scheduled = obj.spec ~= nil and obj.spec.schedule ~= nil
if obj.spec ~= nil and obj.spec.suspend == true then
  return { status = "Suspended", message = "The task is suspended" }
end
-- part: task_report
-- What keeps the task from its start is told by the condition that waits for it; these reasons say that nothing does.
-- part: task_conditions
-- Of several partitions, the first one that failed speaks, else the first one that says anything. The warmup after a sync
-- has conditions of its own.
local task = nil
for field, word in pairs({ sync = "sync", warmup = "warmup", evict = "clear", remove = "rmr", copy = "copy" }) do
  if obj.spec ~= nil and obj.spec[field] ~= nil then
    task = word
  end
end
local message, of_failed = nil, false
for _, attempt in ipairs(status.attempts or {}) do
  local failed = attempt.state == "failed"
  local own = attempt.task == task
  if own and attempt.message ~= nil and (message == nil or (failed and not of_failed)) then
    message, of_failed = attempt.message, failed
  end
end
-- part: task_result
