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
