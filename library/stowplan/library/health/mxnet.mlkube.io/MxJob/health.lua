-- Health of an MxJob from what is reported of it. Argo CD runs this without the string and math libraries.
local waiting = "Waiting for the first report"
if obj.status == nil then
  return { status = "Progressing", message = waiting }
end
local status = obj.status
if status.observedGeneration ~= nil and obj.metadata.generation ~= nil
    and status.observedGeneration < obj.metadata.generation then
  return { status = "Progressing", message = "Waiting for a report on the newest spec" }
end
-- What keeps the job from its end is told by the condition that waits for it; these reasons say that nothing does.
local plain = { NotStarted = true, Running = true, Succeeded = true, Suspended = true }
local holds, kept = {}, nil
if status.conditions ~= nil then
  for _, condition in ipairs(status.conditions) do
    if condition.status == "True" then
      holds[condition.type] = condition.message or condition.reason
    elseif condition.type == "Complete" and not plain[condition.reason] then
      kept = condition.message or condition.reason
    end
  end
end
local phase = status.phase
local named = phase ~= nil and phase ~= ""
local over = phase == "Done" or phase == "Failed"
local failed = phase == "Failed" or (over and status.state == "Failed") or (not named and holds.Failed)
local done = (phase == "Done" and status.state == "Succeeded") or (not named and holds.Complete)
if failed then
  local why = holds.Failed
  if why == nil and status.reason ~= "" then
    why = status.reason
  end
  return { status = "Degraded", message = why or "The job failed" }
end
if done then
  return { status = "Healthy", message = "The job is done" }
end
if holds.Stalled then
  return { status = "Degraded", message = holds.Stalled }
end
if holds.Suspended then
  return { status = "Suspended", message = holds.Suspended }
end
local going = {
  Creating = "Pods are being created",
  Running = "The job is running",
  Done = "The job ended, and its result is not reported yet",
}
return { status = "Progressing", message = kept or (named and going[phase] or waiting) }
