-- Health of a DatasetTask from what its agents report. Argo CD runs this without the string and math libraries.
local scheduled = obj.spec ~= nil and obj.spec.schedule ~= nil
if obj.spec ~= nil and obj.spec.suspend == true then
  return { status = "Suspended", message = "The task is suspended" }
end
if obj.status == nil or obj.status.phase == nil or obj.status.phase == "" then
  if scheduled then
    return { status = "Healthy", message = "Waiting for the scheduled time" }
  end
  return { status = "Progressing", message = "Waiting for the agents to report" }
end
local status = obj.status
if status.observedGeneration ~= nil and obj.metadata.generation ~= nil
    and status.observedGeneration < obj.metadata.generation then
  return { status = "Progressing", message = "Waiting for the agents to see the newest spec" }
end
-- What keeps the task from its start is told by the condition that waits for it; these reasons say that nothing does.
local plain = { NotStarted = true, Running = true, Succeeded = true, Suspended = true }
local stalled, kept = nil, nil
for _, condition in ipairs(status.conditions or {}) do
  if condition.type == "Stalled" and condition.status == "True" then
    stalled = condition.message or condition.reason
  elseif condition.type == "Complete" and condition.status == "False" and not plain[condition.reason] then
    kept = condition.message or condition.reason
  end
end
if status.phase ~= "Pending" then
  kept = nil
end
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
if status.phase == "Succeeded" then
  for _, condition in ipairs(status.conditions or {}) do
    if condition.type == "CacheTooSmall" and condition.status == "True" then
      message = "The cache is too small: " .. (condition.message or condition.reason)
    end
  end
  return { status = "Healthy", message = message or "The task succeeded" }
end
if status.phase == "Failed" then
  return { status = "Degraded", message = message or "The task failed" }
end
if stalled ~= nil then
  return { status = "Degraded", message = stalled }
end
message = kept or message or "The task is running"
return { status = scheduled and "Healthy" or "Progressing", message = message }
